import { defineFlags, integerFrom, UsageError } from '@kubewright/base'
import { kubernetesFlag } from '../command/kubernetes-flag.ts'
import { endpointsOf } from './etcd-flags.ts'

/** The file of the kubeconfig without a flag. */
export const defaultKubeconfig = '.kubewright/kubeconfig'

/** The defaults in which `up` and `dev` differ. */
export interface PlaneDefaults {
  readonly port: string
  readonly portText?: string | undefined
  readonly nodes: string
  /** Describes where objects are kept without a flag. */
  readonly storage: string
}

/** The flags of every command that starts a control plane. */
export function planeFlags({ port, portText, nodes, storage }: PlaneDefaults) {
  return defineFlags({
    port: {
      value: 'N',
      default: port,
      ...(portText === undefined ? {} : { defaultText: portText }),
      parse: integerFrom(0, 65_535),
      help: 'Listen on this port; 0 picks a free one',
    },
    data: {
      value: 'DIR',
      complete: 'folders',
      defaultText: storage,
      parse: folderOf,
      help: 'Keep objects in this folder',
    },
    memory: { default: false, help: 'Keep objects in memory only' },
    etcd: {
      value: 'URL[,URL]',
      parse: (text) => endpointsOf(text, '--etcd'),
      help: 'Keep objects in etcd, which several servers may share; ETCDCTL_CACERT, ETCDCTL_CERT and ETCDCTL_KEY name the certificate files, ETCDCTL_USER is NAME:PASSWORD',
    },
    ...kubernetesFlag,
    'history-mib': {
      value: 'N',
      default: '64',
      parse: integerFrom(1, 65_536),
      help: 'Keep at most N MiB of old object versions for watches that resume, in the store and in the watch caches',
    },
    'max-body-mib': {
      value: 'N',
      default: '3',
      parse: integerFrom(1, 64),
      help: 'Refuse request bodies over N MiB',
    },
    'max-body-values': {
      value: 'N',
      default: '100000',
      parse: integerFrom(1000, 100_000_000),
      help: 'Refuse request bodies with more than N keys and list items',
    },
    'max-body-depth': {
      value: 'N',
      default: '2000',
      parse: integerFrom(20, 2000),
      help: 'Refuse request bodies that are nested deeper than N levels; YAML and protobuf allow at most 1000',
    },
    'max-header-kib': {
      value: 'N',
      default: '64',
      parse: integerFrom(1, 1024),
      help: 'Refuse HTTP/2 requests with more than N KiB of headers',
    },
    'max-streams': {
      value: 'N',
      default: '100',
      parse: integerFrom(1, 100_000),
      help: 'Allow N requests at the same time on one HTTP/2 connection',
    },
    'max-watches-per-user': {
      value: 'N',
      default: '5000',
      parse: integerFrom(1, 1_000_000),
      help: 'Allow N watches of one user at the same time; members of system:masters have no limit',
    },
    'max-list-objects': {
      value: 'N',
      parse: integerFrom(1, 1_000_000_000),
      help: 'Return at most N objects per list page, and refuse larger lists without the parameter limit',
    },
    kubeconfig: {
      value: 'FILE',
      complete: 'files',
      default: defaultKubeconfig,
      help: 'Write the kubeconfig to this file; while another control plane uses the default file, to one with the port in its name',
    },
    controllers: {
      value: 'NAMES',
      default: 'all',
      parse: controllersOf,
      help: 'Run these controllers: all, none, or a list of the names that kube-controller-manager uses; -NAME excludes one',
    },
    nodes: {
      value: 'N',
      default: nodes,
      parse: integerFrom(0, 10_000),
      help: 'Simulate this many nodes; without nodes, pods stay pending',
    },
    token: {
      value: 'TOKEN',
      parse: tokenOf,
      help: 'Also accept this bearer token, with the permissions of the group system:masters',
    },
    'client-ca': {
      value: 'FILE',
      complete: 'files',
      help: 'Also accept client certificates of this CA; the CN is the user, each O is a group',
    },
    'enable-admission-plugins': {
      value: 'NAMES',
      parse: pluginsOf,
      help: 'Also run these admission plugins, which are off by default as in kube-apiserver: AlwaysPullImages, DenyServiceExternalIPs, OwnerReferencesPermissionEnforcement',
    },
    verbose: { short: 'v', default: false, help: 'Log every request and every action of the controllers' },
  })
}

function folderOf(text: string): string {
  if (text === '') throw new UsageError('--data must be the name of a folder, not ""')
  return text
}

function controllersOf(text: string): 'all' | 'none' | readonly string[] {
  if (text === 'all' || text === 'none') return text
  const names = listOf(text)
  if (names.includes('')) throw new UsageError(`--controllers must be all, none or a list of names, not "${text}"`)
  return names
}

function pluginsOf(text: string): readonly string[] {
  const names = listOf(text)
  if (names.includes('')) throw new UsageError(`--enable-admission-plugins must be a list of names, not "${text}"`)
  return names
}

/** Accepts what an Authorization header can hold. An empty token would admit requests without one. */
function tokenOf(text: string): string {
  // The token is a secret, so the message does not repeat it.
  if (!/^[\x21-\x7e]+$/.test(text)) throw new UsageError('--token must be printable ASCII without blanks')
  return text
}

function listOf(text: string): string[] {
  return text.split(',').map((part) => part.trim())
}
