import { defineFlags } from '@kubewright/base'
import { defineArguments } from '../command/arguments.ts'
import { type Command, type CommandGroup, defineCommand } from '../command/command.ts'

const storeFlags = defineFlags({
  'bin-dir': {
    value: 'DIR',
    complete: 'folders',
    defaultText: 'envtest in the cache folder of the user',
    help: 'Keep the programs below this folder, in k8s/VERSION-OS-ARCH',
  },
})

const installedFlag = defineFlags({
  'installed-only': { short: 'i', default: false, help: 'Consider only versions whose folder exists' },
})

/** The flags of `envtest use`. */
export const useFlags = defineFlags({
  print: {
    short: 'p',
    value: 'WHAT',
    choices: ['overview', 'path', 'env'],
    default: 'overview',
    help: 'Print an overview, the path, or a line that sets KUBEBUILDER_ASSETS in a shell: overview, path or env',
  },
  ...installedFlag,
  ...storeFlags,
})

/** The flags of `envtest list`. */
export const listFlags = defineFlags({ ...installedFlag, ...storeFlags })

/** The flags of `envtest cleanup`. */
export const cleanupFlags = defineFlags({ ...storeFlags })

/** The argument of all three commands. */
export const versionArgument = defineArguments({
  version: {
    label: 'VERSION',
    optional: true,
    help: 'A release such as 1.36 or 1.36.x, a version such as 1.36.4, ~1.36.2 (this or a later patch), <1.36, or latest',
  },
})

const useCommand: Command = defineCommand({
  name: 'envtest use',
  summary: 'Write the programs kube-apiserver, etcd and kubectl, and print their folder',
  description: `
Write a folder with the programs that envtest, jenvtest and other test environments start: kube-apiserver, etcd and
kubectl. They run this installation of kubewright, so nothing is downloaded. VERSION selects the release of Kubernetes
(default: the newest stable one).

kube-apiserver keeps objects in memory and runs no controllers. KUBEWRIGHT_CONTROLLERS names some: gc, namespace,
workloads, all, or names of kube-controller-manager. etcd only answers health checks. kubectl runs the one on the PATH.`,
  args: versionArgument,
  flags: useFlags,
  examples: ['envtest use 1.36', 'envtest use 1.36 -p path --bin-dir bin', 'envtest use -p env'],
  run: async (input, context) => (await import('./run-use.ts')).runUse(input, context),
})

const listCommand: Command = defineCommand({
  name: 'envtest list',
  summary: 'List the versions that are installed, and those that can be',
  description: 'List the versions whose folder exists, and those that this installation of kubewright can write.',
  args: versionArgument,
  flags: listFlags,
  run: async (input, context) => (await import('./run-list.ts')).runList(input, context),
})

const cleanupCommand: Command = defineCommand({
  name: 'envtest cleanup',
  summary: 'Remove the folders of installed versions',
  description: 'Remove the folders of all installed versions, or of those that VERSION selects.',
  args: versionArgument,
  flags: cleanupFlags,
  examples: ['envtest cleanup', `envtest cleanup '<1.36'`],
  run: async (input, context) => (await import('./run-cleanup.ts')).runCleanup(input, context),
})

/** `kubewright envtest`: programs for the test environments of other languages. */
export const envtestCommand: CommandGroup = {
  name: 'envtest',
  summary: 'Give envtest and others kube-apiserver, etcd and kubectl (use, list, cleanup)',
  commands: [useCommand, listCommand, cleanupCommand],
}
