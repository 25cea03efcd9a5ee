import { parseFlags } from '../parse-flags.ts'
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
  /** As they were named; whether there are such is known where the server is. */
  readonly admissionPlugins?: readonly string[]
  readonly verbose: boolean
}

/** The help of `up`. */
export const upHelp: string = `Usage: kubewright up [OPTIONS]

Serves a Kubernetes API on https://127.0.0.1 until it is interrupted, with the
controllers of a cluster. Prints one line when it answers:
  ready https://127.0.0.1:PORT kubeconfig=FILE in NNN ms

Options
  --port N             Port to listen on; 0 picks one (default 6443)
  --data DIR           Keep objects in this folder (default .kubewright/data)
  --memory             Keep objects in memory only
  --etcd URL[,URL]     Keep objects in etcd; certificates are taken from
                       ETCDCTL_CACERT, ETCDCTL_CERT and ETCDCTL_KEY, name and
                       password from ETCDCTL_USER
  --kubeconfig FILE    Where to write the kubeconfig
                       (default .kubewright/kubeconfig)
  --controllers WHICH  all, none, or a list of names as kube-controller-manager
                       has them; -NAME is all but that one (default all)
  --nodes N            Number of simulated nodes, on which pods go through the
                       motions; without any they stay pending (default 0)
  --token TOKEN        Also accept this bearer token, for system:masters
  --client-ca FILE     Also trust client certificates of this CA
                       (CN = user, O = groups)
  --enable-admission-plugins NAMES
                       Also run these admission plugins, which are off as in
                       kube-apiserver: OwnerReferencesPermissionEnforcement
  -v, --verbose        Log every request, and what the controllers do`

/** Reads the arguments of `up`. Throws {@link UsageError}. */
export function parseUpOptions(args: readonly string[]): UpOptions {
  const { values } = parseFlags({ args: [...args], options: planeFlags })
  return planeOptions(values, { port: 6443, backend: { kind: 'durable', folder: '.kubewright/data' }, nodes: 0 })
}

/** The flags of every command that starts a control plane, for `parseArgs`. */
export const planeFlags: PlaneFlags = {
  port: { type: 'string' },
  data: { type: 'string' },
  memory: { type: 'boolean' },
  etcd: { type: 'string' },
  kubeconfig: { type: 'string' },
  controllers: { type: 'string' },
  token: { type: 'string' },
  'client-ca': { type: 'string' },
  'enable-admission-plugins': { type: 'string' },
  nodes: { type: 'string' },
  verbose: { type: 'boolean', short: 'v' },
}

type PlaneFlags = {
  [Name in keyof PlaneValues]-?: PlaneValues[Name] extends boolean | undefined
    ? { type: 'boolean'; short?: string }
    : { type: 'string' }
}

/** What `parseArgs` makes of {@link planeFlags}. */
export interface PlaneValues {
  readonly port?: string | undefined
  readonly data?: string | undefined
  readonly memory?: boolean | undefined
  readonly etcd?: string | undefined
  readonly kubeconfig?: string | undefined
  readonly controllers?: string | undefined
  readonly token?: string | undefined
  readonly 'client-ca'?: string | undefined
  readonly 'enable-admission-plugins'?: string | undefined
  readonly nodes?: string | undefined
  readonly verbose?: boolean | undefined
}

/** Makes options of flags. Throws {@link UsageError}. */
export function planeOptions(
  values: PlaneValues,
  defaults: { readonly port: number; readonly backend: Backend; readonly nodes: number },
): UpOptions {
  return {
    port: numberOf('--port', values.port ?? String(defaults.port), 65_535),
    backend: backendOf(values) ?? defaults.backend,
    kubeconfig: values.kubeconfig ?? '.kubewright/kubeconfig',
    controllers: controllersOf(values.controllers ?? 'all'),
    nodes: numberOf('--nodes', values.nodes ?? String(defaults.nodes), 10_000),
    verbose: values.verbose ?? false,
    ...(values.token === undefined ? {} : { token: tokenOf(values.token) }),
    ...(values['client-ca'] === undefined ? {} : { clientCa: values['client-ca'] }),
    ...pluginsOf(values['enable-admission-plugins']),
  }
}

function backendOf({ data, memory, etcd }: PlaneValues): Backend | undefined {
  const flags = [data !== undefined && '--data', memory && '--memory', etcd !== undefined && '--etcd']
  const chosen = flags.filter((flag) => typeof flag === 'string')
  if (chosen.length > 1) throw new UsageError(`${chosen.join(' and ')} exclude each other`)
  if (memory) return { kind: 'memory' }
  if (data === '') throw new UsageError('--data needs the name of a folder')
  if (data !== undefined) return { kind: 'durable', folder: data }
  if (etcd === undefined) return undefined
  const endpoints = etcd.split(',').map((url) => url.trim())
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

function pluginsOf(text: string | undefined): Pick<UpOptions, 'admissionPlugins'> {
  if (text === undefined) return {}
  const names = text.split(',').map((name) => name.trim())
  if (names.includes('')) throw new UsageError('--enable-admission-plugins needs a list of names')
  return { admissionPlugins: names }
}

/** What can stand in an Authorization header; an empty token would let in whoever sends none. */
function tokenOf(text: string): string {
  if (!/^[\x21-\x7e]+$/.test(text)) throw new UsageError('--token needs printable ASCII without spaces')
  return text
}
