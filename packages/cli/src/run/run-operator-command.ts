import { type Command, defineCommand } from '../command/command.ts'
import { programArgument } from '../entry/entry-argument.ts'

/** `kubewright run`: runs an operator against a cluster. */
export const runOperatorCommand: Command = defineCommand({
  name: 'run',
  summary: 'Run an operator against the cluster of the current kubeconfig',
  description: `
Run an operator until interrupted, against the cluster of $KUBECONFIG, ~/.kube/config or the service account of the pod.
The behaviour is that of running the main module of the operator with node. The kinds of the operator must be installed: see kubewright install --help.

TypeScript needs tsx in the project, or Node 22.18.`,
  args: programArgument,
  forwards: {
    label: 'FLAGS',
    help: 'Flags of the operator, such as --leader-elect, --metrics-bind-address=:8443 and --log-level=debug; kubewright run -- --help lists them',
    from: 'first flag',
    flags: async () => (await import('@kubewright/runtime')).operatorFlags,
  },
  endsInOrder: true,
  run: async (input, context) => (await import('./run-operator.ts')).runOperator(input, context),
})
