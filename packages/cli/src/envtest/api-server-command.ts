import { type Command, defineCommand } from '../command/command.ts'
import { upFlags } from '../up/up-command.ts'

/** The program `kube-apiserver` of a folder for envtest, with the flags of `up`. Not a command of users. */
export const apiServerCommand: Command = defineCommand({
  name: 'envtest kube-apiserver',
  summary: 'Serve the Kubernetes API for a test',
  description: 'Serve the Kubernetes API from memory until interrupted.',
  flags: upFlags,
  endsInOrder: true,
  run: async (input, context) => (await import('./run-api-server.ts')).runApiServer(input, context),
})
