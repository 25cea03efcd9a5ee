import { parseFlags } from '../parse-flags.ts'
import { planeFlags, planeOptions, type UpOptions } from '../up/up-options.ts'
import { UsageError } from '../usage-error.ts'

/** What `dev` was asked for. */
export interface DevOptions {
  /** The module or folder of the operator, if one was named. */
  readonly entry: string | undefined
  readonly plane: UpOptions
  /** Further folders whose files reload the operator. */
  readonly watch: readonly string[]
  /** Whether to end when the operator has nothing left to do. */
  readonly once: boolean
  /** What follows two dashes. */
  readonly flags: readonly string[]
}

/** The help of `dev`. */
export const devHelp: string = `Usage: kubewright dev [ENTRY] [OPTIONS] [-- FLAGS]

Starts a control plane on this machine, installs the kinds of an operator and
runs it with its webhooks. Saving a file loads it again; objects stay. Tells
what is reconciled, why, and what goes wrong.

ENTRY is a module that exports an operator or calls run(operator), or the folder
of a project. Without it: "kubewright": { "operator": FILE } in package.json,
else src/main.ts or src/operator.ts. TypeScript needs tsx in the project, or
Node 22.18. FLAGS are those of the operator's program: --log-level=debug, ...

Options
  --data DIR           Keep objects in this folder (default: in memory)
  --etcd URL[,URL]     Keep objects in etcd; see kubewright up --help
  --kubeconfig FILE    Where to write the kubeconfig for kubectl
                       (default .kubewright/kubeconfig)
  --port N             Port of the API (default: a free one)
  --nodes N            Number of simulated nodes (default 1)
  --controllers WHICH  all, none, or a list of names; see kubewright up --help
  --token TOKEN        Also accept this bearer token, for system:masters
  --client-ca FILE     Also trust client certificates of this CA
  --enable-admission-plugins NAMES
                       Also run these admission plugins, which are off as in
                       kube-apiserver: OwnerReferencesPermissionEnforcement
  --watch DIR          Also reload for files in this folder; can be repeated
  --once               End when the operator has nothing left to do
  -v, --verbose        Log every request, and what the controllers do`

/** Reads the arguments of `dev`. Throws {@link UsageError}. */
export function parseDevOptions(args: readonly string[]): DevOptions {
  const dashes = args.indexOf('--')
  const own = dashes < 0 ? args : args.slice(0, dashes)
  const { values, positionals } = parseFlags({
    args: [...own],
    allowPositionals: true,
    options: { ...planeFlags, once: { type: 'boolean' }, watch: { type: 'string', multiple: true } },
  })
  const [entry, extra] = positionals
  if (extra !== undefined) throw new UsageError(`one module is enough: what is "${extra}"? Flags of it follow after --`)
  return {
    entry,
    plane: planeOptions(values, { port: 0, backend: { kind: 'memory' }, nodes: 1 }),
    watch: values.watch ?? [],
    once: values.once ?? false,
    flags: dashes < 0 ? [] : args.slice(dashes + 1),
  }
}
