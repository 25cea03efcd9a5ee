import { parseArgs } from 'node:util'
import { UsageError } from '../usage-error.ts'

/** Where `up` keeps objects. */
export type Backend =
  | { readonly kind: 'memory' }
  | { readonly kind: 'durable'; readonly folder: string }
  | { readonly kind: 'etcd'; readonly endpoints: readonly string[] }

/** What `up` was asked for. */
export interface UpOptions {
  readonly port: number
  readonly backend: Backend
  readonly kubeconfig: string
  readonly controllers: 'all' | 'none' | readonly string[]
  readonly nodes: number
  readonly token?: string
  readonly clientCa?: string
  readonly verbose: boolean
}

/** The help of `up`. */
export const upHelp: string = `Usage: kubewright up [OPTIONS]

Serves a Kubernetes API on https://127.0.0.1 until it is interrupted. Prints one line when it answers:
  ready https://127.0.0.1:PORT kubeconfig=FILE in NNN ms

Options
  --port N             Port to listen on; 0 picks one (default 6443)
  --data DIR           Keep objects in this folder (default .kubewright/data)
  --memory             Keep objects in memory only
  --etcd URL[,URL]     Keep objects in etcd; certificates are taken from ETCDCTL_CACERT, ETCDCTL_CERT and ETCDCTL_KEY,
                       name and password from ETCDCTL_USER
  --kubeconfig FILE    Where to write the kubeconfig (default .kubewright/kubeconfig)
  --token TOKEN        Also accept this bearer token as a member of system:masters
  --client-ca FILE     Also trust client certificates of this CA (CN = user, O = groups)
  --controllers WHICH  all, none or a list of names (default none); this version has
                       clusterrole-aggregation-controller and validatingadmissionpolicy-status-controller
  --nodes N            Number of simulated nodes (this version has none)
  --verbose            Log every request`

/** Reads the arguments of `up`. Throws {@link UsageError}. */
export function parseUpOptions(args: readonly string[]): UpOptions {
  const values = parse(args)
  const backends = [values.data !== undefined && '--data', values.memory && '--memory', values.etcd && '--etcd']
  const chosen = backends.filter((flag) => typeof flag === 'string')
  if (chosen.length > 1) throw new UsageError(`${chosen.join(' and ')} exclude each other`)
  return {
    port: numberOf('--port', values.port ?? '6443', 65_535),
    backend: backendOf(values),
    kubeconfig: values.kubeconfig ?? '.kubewright/kubeconfig',
    controllers: controllersOf(values.controllers ?? 'none'),
    nodes: numberOf('--nodes', values.nodes ?? '0', 10_000),
    verbose: values.verbose ?? false,
    ...(values.token === undefined ? {} : { token: tokenOf(values.token) }),
    ...(values['client-ca'] === undefined ? {} : { clientCa: values['client-ca'] }),
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        port: { type: 'string' },
        data: { type: 'string' },
        memory: { type: 'boolean' },
        etcd: { type: 'string' },
        kubeconfig: { type: 'string' },
        controllers: { type: 'string' },
        token: { type: 'string' },
        'client-ca': { type: 'string' },
        nodes: { type: 'string' },
        verbose: { type: 'boolean', short: 'v' },
      },
    }).values
  } catch (error) {
    // Node explains at length how to pass what looks like an option; its first sentence is what matters here.
    throw new UsageError((error instanceof Error ? error.message : String(error)).split(/[.\n]/, 1)[0]!)
  }
}

function backendOf(values: { data?: string; memory?: boolean; etcd?: string }): Backend {
  if (values.memory) return { kind: 'memory' }
  if (values.etcd === undefined) {
    if (values.data === '') throw new UsageError('--data needs the name of a folder')
    return { kind: 'durable', folder: values.data ?? '.kubewright/data' }
  }
  const endpoints = values.etcd.split(',').map((url) => url.trim())
  for (const url of endpoints) {
    if (!/^https?:\/\/[^/]+\/?$/.test(url))
      throw new UsageError(`--etcd needs addresses such as http://127.0.0.1:2379, not "${url}"`)
  }
  return { kind: 'etcd', endpoints }
}

function numberOf(flag: string, text: string, most: number): number {
  const number = Number(text)
  if (!/^\d+$/.test(text) || number > most)
    throw new UsageError(`${flag} needs a number from 0 to ${most}, not "${text}"`)
  return number
}

function controllersOf(text: string): UpOptions['controllers'] {
  if (text === 'all' || text === 'none') return text
  const names = text.split(',').map((name) => name.trim())
  if (names.some((name) => name === '')) throw new UsageError('--controllers needs all, none or a list of names')
  return names
}

/** What can stand in an Authorization header; an empty token would let in whoever sends none. */
function tokenOf(text: string): string {
  if (!/^[\x21-\x7e]+$/.test(text)) throw new UsageError('--token needs printable ASCII without spaces')
  return text
}
