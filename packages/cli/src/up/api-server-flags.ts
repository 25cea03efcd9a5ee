import { defineFlags, IPAddress, IPPrefix, integerFrom, UsageError } from '@kubewright/base'
import { authenticationFlags } from './authentication-flags.ts'
import { authorizationFlags } from './authorization-flags.ts'
import { certificateFlags } from './certificate-flags.ts'
import { kubeletFlags } from './kubelet-flags.ts'

const section = 'API server, as in kube-apiserver'

/** The flags of `up` that have the names and meanings of kube-apiserver's. docs/reference/api-server-flags.md lists the differences. */
export const apiServerFlags = defineFlags({
  'bind-address': {
    section,
    value: 'IP',
    default: '127.0.0.1',
    parse: addressOf,
    help: 'Listen on this address; 0.0.0.0 and :: are all addresses of this machine. Every other address than a loopback one lets other machines connect',
  },
  'advertise-address': {
    section,
    value: 'IP',
    defaultText: 'the bind address, or the address of the host if it is a loopback address',
    parse: addressOf,
    help: 'Publish this address as the endpoint of the service kubernetes; must be reachable by the rest of the cluster',
  },
  'service-cluster-ip-range': {
    section,
    value: 'CIDR',
    default: '10.0.0.0/24',
    parse: serviceRangeOf,
    help: 'Allocate cluster IPs from this IPv4 range',
  },
  'authorization-mode': {
    section,
    value: 'MODES',
    defaultText: 'Node,RBAC',
    parse: namesOf,
    help: 'Authorize requests by these modes, in order: AlwaysAllow, AlwaysDeny, Node, RBAC, Webhook',
  },
  'anonymous-auth': {
    section,
    defaultText: 'true',
    help: 'Serve requests without credentials as the user system:anonymous; otherwise they get 401',
  },
  'token-auth-file': {
    section,
    value: 'FILE',
    complete: 'files',
    help: 'Accept the bearer tokens of this CSV file, with the columns token, user name, user uid and optionally groups',
  },
  'disable-admission-plugins': {
    section,
    value: 'NAMES',
    parse: namesOf,
    help: 'Do not run these admission plugins, which are on by default',
  },
  'enable-priority-and-fairness': {
    section,
    default: true,
    help: 'Let FlowSchemas and priority levels decide which requests run first',
  },
  'max-requests-inflight': {
    section,
    value: 'N',
    default: '400',
    parse: integerFrom(0, 1_000_000),
    help: 'Refuse read-only requests with 429 while this many are in flight; 0 means no limit',
  },
  'max-mutating-requests-inflight': {
    section,
    value: 'N',
    default: '200',
    parse: integerFrom(0, 1_000_000),
    help: 'Refuse mutating requests with 429 while this many are in flight; 0 means no limit',
  },
  'audit-policy-file': {
    section,
    value: 'FILE',
    complete: 'files',
    help: 'Record requests according to this policy of audit.k8s.io/v1; see --audit-log-path',
  },
  'audit-log-path': {
    section,
    value: 'FILE',
    complete: 'files',
    help: 'Append audit events to this file, one line of JSON each; - means standard output',
  },
  'audit-log-maxage': {
    section,
    value: 'DAYS',
    default: '0',
    parse: integerFrom(0, 100_000),
    help: 'Remove old audit logs after this many days; 0 keeps them',
  },
  'audit-log-maxbackup': {
    section,
    value: 'N',
    default: '0',
    parse: integerFrom(0, 100_000),
    help: 'Keep at most this many old audit logs; 0 keeps all',
  },
  'audit-log-maxsize': {
    section,
    value: 'MIB',
    default: '0',
    parse: integerFrom(0, 1_000_000),
    help: 'Begin a new audit log at this size; 0 means 100',
  },
  'encryption-provider-config': {
    section,
    value: 'FILE',
    complete: 'files',
    help: 'Encrypt stored objects as this EncryptionConfiguration says; providers: identity, aescbc, aesgcm, secretbox',
  },
  'runtime-config': {
    section,
    value: 'KEY=BOOL[,KEY=BOOL]',
    parse: switchesOf,
    help: 'Turn API versions on or off: batch/v1=false, api/all=false, api/beta=false; v1 is always on',
  },
  'feature-gates': {
    section,
    value: 'NAME=BOOL[,NAME=BOOL]',
    parse: switchesOf,
    help: 'Accept the feature gates of kube-apiserver; they have no effect, and a value other than the default causes a warning',
  },
  scheduler: {
    section,
    defaultText: 'true with simulated nodes',
    help: 'Bind pods to nodes; --no-scheduler leaves that to another scheduler',
  },
  ...authenticationFlags,
  ...authorizationFlags,
  ...certificateFlags,
  ...kubeletFlags,
})

function addressOf(text: string, flag: string): string {
  try {
    return IPAddress.parse(text).toString()
  } catch {
    throw new UsageError(`${flag} must be an IP address, not "${text}"`)
  }
}

/** The bounds are those of cmd/kube-apiserver/app/options/validation.go: at least 8 addresses, at most 20 bits of them. */
function serviceRangeOf(text: string, flag: string): string {
  if (text.includes(',')) throw new UsageError(`${flag} must be one IPv4 range: two address families are not supported`)
  let range: IPPrefix
  try {
    range = IPPrefix.parse(text).masked()
  } catch {
    throw new UsageError(`${flag} must be an IPv4 range such as 10.96.0.0/16, not "${text}"`)
  }
  if (range.address.family !== 4) throw new UsageError(`${flag} must be an IPv4 range, not "${text}"`)
  if (range.bits < 12) {
    throw new UsageError(`${flag} is too large; for 32-bit addresses, the mask must be >= 12, not ${range.bits}`)
  }
  if (range.bits > 29) throw new UsageError(`${flag} must contain at least 8 IP addresses, not "${text}"`)
  return `${range.address}/${range.bits}`
}

/** Pairs such as `a=true,b=false`; a key without a value is true. */
function switchesOf(text: string, flag: string): ReadonlyMap<string, boolean> {
  const switches = new Map<string, boolean>()
  for (const pair of text.split(',').map((part) => part.trim())) {
    if (pair === '') continue
    const [key = '', value = 'true'] = pair.split('=', 2)
    if (key === '' || (value !== 'true' && value !== 'false')) {
      throw new UsageError(`${flag} must be a list of NAME=true and NAME=false, not "${pair}"`)
    }
    switches.set(key, value === 'true')
  }
  return switches
}

function namesOf(text: string, flag: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim())
  if (names.includes('')) throw new UsageError(`${flag} must be a list of names, not "${text}"`)
  return names
}
