import { IPAddress } from '@kubewright/base'
import { apiServerFlags } from '../up/api-server-flags.ts'
import { flagValues } from './flag-values.ts'

/** The flags of kube-apiserver that `up` has under the same name. */
export const apiServerFlagNames: readonly string[] = [
  // Only `up` has it.
  ...Object.keys(apiServerFlags).filter((name) => name !== 'scheduler'),
  'enable-admission-plugins',
  'shutdown-delay-duration',
].sort()

/** Every starter gives them. They are about etcd, which keeps nothing here. */
const silent = new Set(['etcd-servers', 'etcd-prefix', 'insecure-port'])

/** Words of KUBEWRIGHT_CONTROLLERS for controllers that are used together. */
const groups: Readonly<Record<string, readonly string[]>> = {
  gc: ['garbage-collector-controller'],
  namespace: ['namespace-controller'],
  workloads: [
    'deployment-controller',
    'replicaset-controller',
    'replicationcontroller-controller',
    'statefulset-controller',
    'daemonset-controller',
    'job-controller',
    'cronjob-controller',
  ],
}

/**
 * The arguments of `up` for arguments of kube-apiserver: objects are kept in memory, and no controllers run unless `controllers`
 * (KUBEWRIGHT_CONTROLLERS) names them. `ignored` are the flags of kube-apiserver that have no effect.
 */
export function upArguments(
  version: string,
  args: readonly string[],
  controllers: string | undefined,
): { readonly args: readonly string[]; readonly ignored: readonly string[] } {
  const result = ['--memory', '--kubernetes', version, `--controllers=${controllerNames(controllers)}`]
  const ignored: string[] = []
  for (const [name, values] of flagValues(args)) {
    if (silent.has(name)) continue
    const isKnown = apiServerFlagNames.includes(name) && !(name === 'advertise-address' && values.some(isLoopback))
    if (!isKnown) ignored.push(`--${name}`)
    // The first issuer is the one that signs; kube-apiserver accepts tokens of the others.
    else if (name === 'service-account-issuer') result.push(`--${name}=${values[0]}`)
    else result.push(...values.map((value) => `--${name}=${value}`))
  }
  return { args: result, ignored }
}

function controllerNames(words: string | undefined): string {
  const names = (words ?? '')
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
  return names.length === 0 ? 'none' : names.flatMap((word) => groups[word] ?? [word]).join(',')
}

// kube-apiserver accepts such an address, but publishes no endpoint for it.
function isLoopback(text: string): boolean {
  try {
    return IPAddress.parse(text).isLoopback()
  } catch {
    return false
  }
}
