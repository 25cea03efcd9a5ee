import { defineFlags } from '@kubewright/base'
import { type Command, defineCommand } from '../command/command.ts'
import { externalFlags, listOf, scaffoldFlags } from './scaffold-flags.ts'

/** The flags of `create webhook`. */
export const createWebhookFlags = defineFlags({
  kind: {
    value: 'KIND',
    complete: { list: 'kinds' },
    defaultText: 'the only kind of the project',
    help: 'Add webhooks for this kind',
  },
  group: {
    value: 'GROUP',
    complete: { list: 'groups' },
    defaultText: 'the only group with that kind',
    help: 'Select the kind of this API group, given without the domain; required for kinds of Kubernetes',
  },
  version: {
    value: 'VERSION',
    complete: { list: 'versions' },
    defaultText: 'the only version of the kind',
    help: 'Select this version of the kind; required for kinds of Kubernetes',
  },
  defaulting: { defaultText: 'asked at a terminal, off elsewhere', help: 'Create a webhook that sets defaults' },
  'defaulting-path': {
    value: 'PATH',
    defaultText: '/mutate-GROUP-VERSION-KIND',
    help: 'Serve the defaulting webhook at this path',
  },
  'programmatic-validation': {
    defaultText: 'asked at a terminal, off elsewhere',
    help: 'Create a webhook that validates objects',
  },
  'validation-path': {
    value: 'PATH',
    defaultText: '/validate-GROUP-VERSION-KIND',
    help: 'Serve the validating webhook at this path',
  },
  conversion: {
    defaultText: 'asked at a terminal, off elsewhere',
    help: 'Convert between versions: this version becomes the hub and the storage version',
  },
  spoke: { value: 'LIST', defaultText: 'all others', parse: listOf, help: 'Convert these versions to the hub' },
  ...scaffoldFlags,
  force: { default: false, help: 'Overwrite the files of the webhooks, including your changes' },
  ...externalFlags,
  plural: {
    value: 'NAME',
    defaultText: 'derived from the kind',
    section: externalFlags['external-api-path'].section,
    help: 'Use this plural of the kind',
  },
})

/** `kubewright create webhook`: adds webhooks or a conversion for a kind. */
export const createWebhookCommand: Command = defineCommand({
  name: 'create webhook',
  summary: 'Add webhooks that default, validate or convert objects of a kind',
  description: `
Create webhooks for a kind, with tests, and register them in src/operator.ts. The kind is one of the project, of
Kubernetes or of another project. Ask for missing values at a terminal.`,
  flags: createWebhookFlags,
  examples: [
    'create webhook --kind Home --defaulting --programmatic-validation',
    'create webhook --kind Home --version v1 --conversion --spoke v2',
    'create webhook --group core --version v1 --kind Pod --defaulting',
  ],
  run: async (input, context) => (await import('./run-create-webhook.ts')).runCreateWebhook(input, context),
})
