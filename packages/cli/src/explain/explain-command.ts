import { defineFlags } from '@kubewright/base'
import { connectionFlags } from '../cluster/connection-flags.ts'
import { defineArguments } from '../command/arguments.ts'
import { type Command, defineCommand } from '../command/command.ts'
import { kubernetesFlag } from '../command/kubernetes-flag.ts'
import { outputFlag } from '../command/output-flag.ts'

/** The flags of `explain`. */
export const explainFlags = defineFlags({
  crd: {
    value: 'FILE',
    repeatable: true,
    complete: 'files',
    help: 'Explain the CRDs of this file or folder; may be repeated',
  },
  'api-version': {
    value: 'GROUP/VERSION',
    defaultText: 'the preferred one',
    help: 'Explain this version of the kind, such as apps/v1',
  },
  recursive: { default: false, help: 'List the fields of all levels, without descriptions' },
  cluster: { default: false, help: 'Explain the kinds of a cluster' },
  ...connectionFlags,
  ...kubernetesFlag,
  ...outputFlag,
})

/** The arguments of `explain`. */
export const explainArguments = defineArguments({
  path: {
    label: 'KIND[.FIELD...]',
    complete: { list: 'resources' },
    help: 'Kind or field, such as deployments, deploy.spec.strategy or homes.ajd.example.com.spec',
    fix: 'name a kind or a field, such as deployments.spec',
  },
})

/** `kubewright explain`: describes the fields of a kind. */
export const explainCommand: Command = defineCommand({
  name: 'explain',
  summary: 'Describe the fields of a kind, without a cluster',
  description: `
List the fields of a kind, or describe one of them, in the layout of kubectl explain. Descriptions of built-in
kinds are part of Kubewright, those of custom kinds come from their CRDs. With --cluster, the cluster supplies all of them.`,
  args: explainArguments,
  flags: explainFlags,
  run: async (input, context) => (await import('./run-explain.ts')).runExplain(input, context),
})
