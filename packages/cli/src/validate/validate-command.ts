import { defineFlags } from '@kubewright/base'
import { defineArguments } from '../command/arguments.ts'
import { type Command, defineCommand } from '../command/command.ts'
import { kubernetesFlag } from '../command/kubernetes-flag.ts'
import { outputFlag } from '../command/output-flag.ts'

/** The flags of `validate`. */
export const validateFlags = defineFlags({
  crd: {
    value: 'FILE',
    repeatable: true,
    complete: 'files',
    help: 'Create the objects of this file first: CRDs, namespaces, admission policies; may be repeated',
  },
  old: {
    value: 'FILE',
    repeatable: true,
    complete: 'files',
    help: 'Validate the manifests as updates of the objects in this file, to check rules with oldSelf and immutable fields; may be repeated',
  },
  'old-crd': {
    value: 'FILE',
    repeatable: true,
    complete: 'files',
    defaultText: 'those of --crd',
    help: 'Create the objects of --old with these CRDs, to check validation ratcheting; may be repeated',
  },
  'show-defaults': { default: false, help: 'Also print the fields that the server sets' },
  validate: {
    value: 'MODE',
    choices: ['strict', 'warn', 'ignore'],
    default: 'strict',
    help: 'Reject unknown and repeated fields (strict), warn about them (warn) or ignore them (ignore)',
  },
  namespace: {
    value: 'NAME',
    short: 'n',
    default: 'default',
    defaultText: '"default"',
    help: 'Use this namespace for objects that name none',
  },
  ...kubernetesFlag,
  ...outputFlag,
})

/** The arguments of `validate`. */
export const validateArguments = defineArguments({
  files: {
    label: 'FILE',
    many: true,
    complete: 'files',
    help: 'File or folder of YAML or JSON; - is the standard input',
    fix: 'name the files to validate, or - for the standard input',
  },
})

/** `kubewright validate`: validates manifests without a cluster. */
export const validateCommand: Command = defineCommand({
  name: 'validate',
  summary: 'Validate manifests as an API server does, without a cluster',
  description: `
Send manifests to an API server inside this process. It rejects manifests that a cluster would reject, with the
same messages: unknown and repeated fields, wrong types and values, violated CEL rules, invalid names. CRDs among the
manifests are created first, and those in config/crd/bases of the current folder for the kinds of this project.

Exits with 0 if all manifests are valid, 1 if one is invalid, and 2 for a mistake in the arguments.`,
  args: validateArguments,
  flags: validateFlags,
  run: async (input, context) => (await import('./run-validate.ts')).runValidate(input, context),
})
