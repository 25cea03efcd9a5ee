import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type EtcdTls, MemoryStore, openDurableStore, openEtcdStore, type Store } from '@kubewright/storage'
import type { CommandContext } from '../command.ts'
import { UsageError } from '../usage-error.ts'
import type { Backend } from './up-options.ts'

/** Opens the store of a backend. */
export async function openBackend(backend: Backend, { env, clock }: CommandContext): Promise<Store> {
  switch (backend.kind) {
    case 'memory':
      return new MemoryStore()
    case 'durable':
      return openDurableStore(join(backend.folder, 'store'))
    case 'etcd': {
      const tls = await tlsFrom(env)
      const auth = authFrom(env)
      return openEtcdStore({
        endpoints: backend.endpoints,
        clock,
        ...(tls ? { tls } : {}),
        ...(auth ? { auth } : {}),
      })
    }
  }
}

/** Where the server's keys are kept, so that clients survive a restart; undefined when nothing else survives it either. */
export function identityFolderOf(backend: Backend): string | undefined {
  if (backend.kind === 'memory') return undefined
  return backend.kind === 'durable' ? join(backend.folder, 'pki') : '.kubewright/pki'
}

/** The backend in a few words. */
export function describeBackend(backend: Backend): string {
  if (backend.kind === 'memory') return 'memory: everything is gone when it stops'
  return backend.kind === 'durable' ? backend.folder : `etcd at ${backend.endpoints.join(', ')}`
}

async function tlsFrom(env: CommandContext['env']): Promise<EtcdTls | undefined> {
  const read = async (name: string): Promise<string | undefined> => {
    const file = env[name]
    return file ? readFile(file, 'utf8') : undefined
  }
  const [ca, cert, key] = await Promise.all(['ETCDCTL_CACERT', 'ETCDCTL_CERT', 'ETCDCTL_KEY'].map(read))
  if ((cert === undefined) !== (key === undefined)) throw new UsageError('ETCDCTL_CERT and ETCDCTL_KEY go together')
  if (ca === undefined && cert === undefined) return undefined
  return { ...(ca ? { ca } : {}), ...(cert ? { cert } : {}), ...(key ? { key } : {}) }
}

function authFrom({ ETCDCTL_USER: user }: CommandContext['env']): { username: string; password: string } | undefined {
  if (!user) return undefined
  const colon = user.indexOf(':')
  if (colon < 0) throw new UsageError('ETCDCTL_USER needs the form name:password')
  return { username: user.slice(0, colon), password: user.slice(colon + 1) }
}
