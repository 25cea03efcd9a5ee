import { defineFlags } from '@kubewright/base'
import { type Command, defineCommand } from '../command/command.ts'
import { externalFlags, scaffoldFlags } from './scaffold-flags.ts'

const section = 'Options for an operator that runs a container image'

/** The flags of `create api`. */
export const createApiFlags = defineFlags({
  group: {
    value: 'GROUP',
    complete: { list: 'groups' },
    defaultText: 'the group of the other kinds',
    help: 'Put the kind into this API group, given without the domain',
  },
  version: {
    value: 'VERSION',
    complete: { list: 'versions' },
    defaultText: 'asked at a terminal, required elsewhere',
    help: 'Create this version, such as v1, v1alpha1 or v2beta1',
  },
  kind: {
    value: 'KIND',
    complete: { list: 'kinds' },
    defaultText: 'asked at a terminal, required elsewhere',
    help: 'Name the kind, in CamelCase',
  },
  plural: { value: 'NAME', defaultText: 'derived from the kind', help: 'Use this plural of the kind' },
  namespaced: { defaultText: 'true', help: 'Keep its objects in namespaces' },
  resource: {
    defaultText: 'true',
    help: 'Define the kind; turn off to add a controller for an existing kind, such as Deployment of apps/v1',
  },
  controller: {
    defaultText: 'true, but false for a further version',
    help: 'Create a controller',
  },
  conversion: {
    defaultText: 'true for a second version',
    help: 'Create the conversion between the versions of the kind, with its test',
  },
  'controller-name': { value: 'NAME', help: 'Name the controller; required for a second one' },
  ...scaffoldFlags,
  force: { default: false, help: 'Overwrite the files of the kind, including your changes' },
  image: { value: 'IMAGE', section, help: 'Run this image in a Deployment' },
  'image-container-command': {
    value: 'LIST',
    section,
    help: 'Run this command in the container; separate its words by commas',
  },
  'image-container-port': { value: 'PORT', section, help: 'Expose this port of the container' },
  'run-as-user': { value: 'UID', section, help: 'Run the container as the user with this number' },
  ...externalFlags,
  // With --image, kubebuilder needs the deploy-image plugin: checked when both flags are known.
  plugins: { value: 'NAMES', hidden: true, repeatable: true, help: scaffoldFlags.plugins.help },
})

/** `kubewright create api`: adds a kind, a version or a controller to the project. */
export const createApiCommand: Command = defineCommand({
  name: 'create api',
  summary: 'Add a kind and its controller, or a version of a kind',
  description: `
Create a kind and its controller, with a test and a sample, and register them in src/operator.ts. An existing kind gets a
further version, a copy of the stored one, and a conversion between its versions. Ask for missing values at a terminal.`,
  flags: createApiFlags,
  examples: [
    'create api --group ajd --version v1 --kind Home',
    'create api --group cache --version v1 --kind Memcached \\\n--image memcached:1.6 --image-container-port 11211 --run-as-user 1001',
    'create api --group apps --version v1 --kind Deployment \\\n--no-resource',
  ],
  run: async (input, context) => (await import('./run-create-api.ts')).runCreateApi(input, context),
})
