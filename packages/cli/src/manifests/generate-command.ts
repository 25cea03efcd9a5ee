import { defineFlags } from '@kubewright/base'
import { type Command, defineCommand } from '../command/command.ts'
import { kubebuilderFlags } from '../command/kubebuilder-flags.ts'
import { outputFlag } from '../command/output-flag.ts'
import { entryArgument } from '../entry/entry-argument.ts'
import { imageFlags } from './image-flags.ts'

/** The flags of `generate`. */
export const generateFlags = defineFlags({
  check: { default: false, help: 'Write nothing, print the differences, and fail if there are any' },
  'dry-run': { default: false, help: 'Write nothing and print the differences' },
  force: { default: false, help: 'Overwrite files that you changed' },
  ...imageFlags,
  'cert-manager': {
    defaultText: 'as in config/',
    help: 'Let cert-manager issue the certificate of the webhooks, instead of the operator',
  },
  prometheus: {
    defaultText: 'as in config/',
    help: 'Let the Prometheus operator scrape the metrics, and install alerts',
  },
  'network-policy': {
    defaultText: 'as in config/',
    help: 'Add a NetworkPolicy that admits only connections to the ports for metrics and webhooks',
  },
  installer: { defaultText: 'on if the file exists', help: 'Also write dist/install.yaml with all objects' },
  helm: {
    defaultText: 'on if the chart exists',
    help: 'Also write a Helm chart to dist/chart; values.yaml keeps your changes',
  },
  bundle: { defaultText: 'on if the bundle exists', help: 'Also write a bundle for OLM to bundle/, and check it' },
  channels: { value: 'A,B', defaultText: 'as in bundle/, else alpha', help: 'Publish the bundle in these channels' },
  'default-channel': { value: 'CHANNEL', defaultText: 'the first one', help: 'Make this the default channel' },
  ...outputFlag,
  ...kubebuilderFlags,
})

/** `kubewright generate`: writes the manifests of an operator. */
export const generateCommand: Command = defineCommand({
  name: 'generate',
  summary: 'Write the manifests of an operator: CRDs, roles, webhooks and more',
  description: `
Write config/ for an operator, in the layout of kubebuilder. kubectl apply -k config/default installs it.

The CRDs, config/rbac/role.yaml and config/webhook/manifests.yaml are derived from the code and always written. You may
change every other file: generate keeps a file whose checksum in the first line does not match its content. Settings are
read from the existing files of config/.

The installer, the chart and the bundle contain the objects of config/default with your changes.`,
  args: entryArgument,
  flags: generateFlags,
  run: async (input, context) => (await import('./run-generate.ts')).runGenerate(input, context),
})
