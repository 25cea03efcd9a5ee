import { type Duration, defineFlags, parseDuration, UsageError } from '@kubewright/base'

const section = 'etcd and several servers, as in kube-apiserver'

/** The flags of `up` for etcd, with the names and meanings of kube-apiserver's. */
export const etcdFlags = defineFlags({
  'etcd-servers': {
    section,
    value: 'URL[,URL]',
    parse: (text, flag) => endpointsOf(text, flag),
    help: 'The same as --etcd',
  },
  'etcd-cafile': {
    section,
    value: 'FILE',
    complete: 'files',
    help: 'Verify the certificates of etcd with this CA; the default is ETCDCTL_CACERT, then the CAs of Node',
  },
  'etcd-certfile': {
    section,
    value: 'FILE',
    complete: 'files',
    help: 'Present this client certificate to etcd; the default is ETCDCTL_CERT',
  },
  'etcd-keyfile': {
    section,
    value: 'FILE',
    complete: 'files',
    help: 'The private key of --etcd-certfile; the default is ETCDCTL_KEY',
  },
  'etcd-prefix': {
    section,
    value: 'PATH',
    default: '/kubewright',
    parse: prefixOf,
    help: 'Prepend this path to all keys in etcd; servers with the same prefix share their objects',
  },
  'etcd-compaction-interval': {
    section,
    value: 'DURATION',
    default: '5m',
    parse: durationOf,
    help: 'Compact the history of etcd that is older than this; 0 leaves it to others',
  },
  'shutdown-delay-duration': {
    section,
    value: 'DURATION',
    default: '0s',
    parse: durationOf,
    help: 'On a stop, serve requests for this time while /readyz fails, so that load balancers choose another server',
  },
})

/** The URLs of etcd members in a flag. */
export function endpointsOf(text: string, flag: string): readonly string[] {
  const endpoints = text.split(',').map((part) => part.trim())
  for (const url of endpoints) {
    if (!/^https?:\/\/[^/]+\/?$/.test(url))
      throw new UsageError(`${flag} must be URLs such as http://127.0.0.1:2379, not "${url}"`)
  }
  return endpoints
}

function prefixOf(text: string, flag: string): string {
  if (!/^\/[\x21-\x7e]*$/.test(text)) {
    throw new UsageError(`${flag} must be a path such as /kubewright, of printable ASCII without blanks, not "${text}"`)
  }
  return text
}

function durationOf(text: string, flag: string): Duration {
  if (text === '0') return '0s'
  try {
    if (parseDuration(text) >= 0n) return text as Duration
  } catch {
    // Reported below.
  }
  throw new UsageError(`${flag} must be a duration such as 5m or 30s, not "${text}"`)
}
