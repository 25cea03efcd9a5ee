import { defineFlags } from '@kubewright/base'
import { type Command, defineCommand } from '../command/command.ts'
import { consoleFlags } from '../console/console-flags.ts'
import { apiServerFlags } from './api-server-flags.ts'
import { etcdFlags } from './etcd-flags.ts'
import { planeFlags } from './plane-flags.ts'

/** The flags of `up`. */
export const upFlags = defineFlags({
  ...planeFlags({ port: '6443', nodes: '0', storage: '.kubewright/data' }),
  ...apiServerFlags,
  config: {
    value: 'FILE',
    complete: 'files',
    help: 'Read flags from this YAML file, by their names without dashes; flags of the command line win',
  },
  ...etcdFlags,
  console: { default: false, help: 'Also serve the web console, on a free port, and print a link that opens it once' },
  ...consoleFlags,
})

/** `kubewright up`: serves a Kubernetes API until it is interrupted. */
export const upCommand: Command = defineCommand({
  name: 'up',
  summary: 'Start a Kubernetes control plane on this machine',
  description: `
Serve a Kubernetes API on https://127.0.0.1 or --bind-address, with the controllers of a cluster, until interrupted. Print
one line when the API answers:
  ready https://127.0.0.1:PORT kubeconfig=FILE in NNN ms`,
  flags: upFlags,
  extend: async (args, flags) => (await import('./config-file.ts')).configFileArguments(args, flags),
  endsInOrder: true,
  run: async (input, context) => (await import('./run-up.ts')).runUp(input, context),
})
