import { readFile } from 'node:fs/promises'
import { type FlagValues, UsageError } from '@kubewright/base'
import type { EtcdConfig, StoreConfig } from '@kubewright/controlplane'
import type { CommandContext } from '../command/command-context.ts'
import type { etcdFlags } from './etcd-flags.ts'
import type { planeFlags } from './plane-flags.ts'

type Flags = FlagValues<ReturnType<typeof planeFlags>> & Partial<FlagValues<typeof etcdFlags>>

/** Describes where the flags keep objects. `otherwise` is the default. Throws {@link UsageError} for flags that exclude each other. */
export async function storeConfig(
  values: Flags,
  otherwise: StoreConfig,
  env: CommandContext['env'],
): Promise<StoreConfig> {
  const { data, memory, etcd, 'etcd-servers': servers, 'etcd-certfile': certFile, 'etcd-keyfile': keyFile } = values
  const given = [data !== undefined && '--data', memory && '--memory', etcd !== undefined && '--etcd']
  const chosen = given.filter((flag) => typeof flag === 'string')
  if (chosen.length > 1) throw new UsageError(`${chosen.join(' and ')} exclude each other: give one of them`)
  if (servers !== undefined && etcd !== undefined)
    throw new UsageError('--etcd and --etcd-servers exclude each other: give one of them')
  if (servers !== undefined && memory)
    throw new UsageError('--memory and --etcd-servers exclude each other: give one of them')
  if ((certFile === undefined) !== (keyFile === undefined))
    throw new UsageError('--etcd-certfile and --etcd-keyfile must be given together')
  const endpoints = etcd ?? servers
  if (endpoints !== undefined) return etcdConfig(endpoints, values, env)
  if (values['etcd-cafile'] !== undefined || certFile !== undefined)
    throw new UsageError('The certificates of etcd have no effect without --etcd: name its servers')
  if (memory) return { kind: 'memory' }
  return data === undefined ? otherwise : { kind: 'durable', folder: data }
}

/** Describes a store for a hint. */
export function describeStore(store: StoreConfig): string {
  if (store.kind === 'memory') return 'memory (lost on exit)'
  return store.kind === 'durable' ? store.folder : `etcd at ${store.endpoints.join(', ')}`
}

async function etcdConfig(
  endpoints: readonly string[],
  values: Flags,
  env: CommandContext['env'],
): Promise<EtcdConfig> {
  const { 'etcd-prefix': keyPrefix } = values
  const tls = await tlsFrom(values, env)
  const auth = authFrom(env)
  return {
    kind: 'etcd',
    endpoints,
    compaction: values['etcd-compaction-interval'],
    ...(keyPrefix === undefined ? {} : { keyPrefix }),
    ...(tls ? { tls } : {}),
    ...(auth ? { auth } : {}),
  }
}

/** The certificates for etcd: the files of flags, or those of the environment variables of etcdctl. */
async function tlsFrom(values: Flags, env: CommandContext['env']): Promise<EtcdConfig['tls']> {
  const read = async (file: string | undefined): Promise<string | undefined> =>
    file ? readFile(file, 'utf8') : undefined
  const files = [
    values['etcd-cafile'] ?? env['ETCDCTL_CACERT'],
    values['etcd-certfile'] ?? env['ETCDCTL_CERT'],
    values['etcd-keyfile'] ?? env['ETCDCTL_KEY'],
  ]
  const [ca, cert, key] = await Promise.all(files.map(read))
  if ((cert === undefined) !== (key === undefined))
    throw new UsageError('ETCDCTL_CERT and ETCDCTL_KEY must be set together')
  if (ca === undefined && cert === undefined) return undefined
  return { ...(ca ? { ca } : {}), ...(cert ? { cert } : {}), ...(key ? { key } : {}) }
}

function authFrom({ ETCDCTL_USER: user }: CommandContext['env']): EtcdConfig['auth'] {
  if (!user) return undefined
  const colon = user.indexOf(':')
  if (colon < 0) throw new UsageError('ETCDCTL_USER must have the form NAME:PASSWORD')
  return { username: user.slice(0, colon), password: user.slice(colon + 1) }
}
