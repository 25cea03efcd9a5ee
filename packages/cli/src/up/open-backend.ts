import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { UsageError } from '@kubewright/base'
import { createServerIdentity, type ServerIdentity } from '@kubewright/server'
import { type EtcdTls, MemoryStore, openDurableStore, openEtcdStore, type Store } from '@kubewright/storage'
import type { CommandContext } from '../command/command-context.ts'
import { identityIn } from './identity-folder.ts'
import type { Backend, EtcdBackend } from './plane-options.ts'
import { type Written, withFolder } from './with-folder.ts'

/** Opens the store of a backend. etcd keeps its history itself and ignores the size. */
export async function openBackend(
  backend: Backend,
  historyBytes: number,
  { env, clock, note }: CommandContext,
): Promise<Store> {
  switch (backend.kind) {
    case 'memory':
      return new MemoryStore({ historyBytes })
    case 'durable':
      return withFolder(kept(backend.folder), async () => {
        const store = await openDurableStore(join(backend.folder, 'store'), { historyBytes })
        for (const text of store.openNotes) note(`Opened the store in ${backend.folder}; ${text}`)
        return store
      })
    case 'etcd': {
      const tls = await tlsFrom(backend, env)
      const auth = authFrom(env)
      return openEtcdStore({
        endpoints: backend.endpoints,
        clock,
        ...(backend.prefix === undefined ? {} : { keyPrefix: backend.prefix }),
        ...(tls ? { tls } : {}),
        ...(auth ? { auth } : {}),
      })
    }
  }
}

/** The identity of the server; its certificate is valid for the hosts. Unless objects are in memory, it is kept, so that clients still trust the server after a restart. */
export async function identityOf(
  backend: Backend,
  now: number,
  hosts: readonly string[] = [],
): Promise<ServerIdentity> {
  switch (backend.kind) {
    case 'memory':
      return createServerIdentity(now, hosts)
    case 'durable':
      return withFolder(kept(backend.folder), () => identityIn(join(backend.folder, 'pki'), now, hosts))
    case 'etcd': {
      const folder = '.kubewright/pki'
      const fix = 'start it in a writable folder'
      return withFolder({ purpose: 'keep its keys in', path: folder, fix }, () => identityIn(folder, now, hosts))
    }
  }
}

const kept = (folder: string): Written => ({
  purpose: 'keep objects in',
  path: folder,
  fix: 'choose another folder with --data DIR, or keep objects in memory with --memory',
})

/** Describes the backend for a hint. */
export function describeBackend(backend: Backend): string {
  if (backend.kind === 'memory') return 'memory (lost on exit)'
  return backend.kind === 'durable' ? backend.folder : `etcd at ${backend.endpoints.join(', ')}`
}

/** The certificates for etcd: the files of flags, or those of the environment variables of etcdctl. */
async function tlsFrom(backend: EtcdBackend, env: CommandContext['env']): Promise<EtcdTls | undefined> {
  const read = async (file: string | undefined): Promise<string | undefined> =>
    file ? readFile(file, 'utf8') : undefined
  const { caFile = env['ETCDCTL_CACERT'], certFile = env['ETCDCTL_CERT'], keyFile = env['ETCDCTL_KEY'] } = backend
  const [ca, cert, key] = await Promise.all([caFile, certFile, keyFile].map(read))
  if ((cert === undefined) !== (key === undefined))
    throw new UsageError('ETCDCTL_CERT and ETCDCTL_KEY must be set together')
  if (ca === undefined && cert === undefined) return undefined
  return { ...(ca ? { ca } : {}), ...(cert ? { cert } : {}), ...(key ? { key } : {}) }
}

function authFrom({ ETCDCTL_USER: user }: CommandContext['env']): { username: string; password: string } | undefined {
  if (!user) return undefined
  const colon = user.indexOf(':')
  if (colon < 0) throw new UsageError('ETCDCTL_USER must have the form NAME:PASSWORD')
  return { username: user.slice(0, colon), password: user.slice(colon + 1) }
}
