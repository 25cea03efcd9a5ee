import { defineFlags } from '@kubewright/base'
import { defineArguments } from '../command/arguments.ts'
import { type Command, defineCommand } from '../command/command.ts'
import { outputFlag } from '../command/output-flag.ts'
import { dataFlag } from './data-flag.ts'

/** The flags of `backup`. */
export const backupFlags = defineFlags({
  ...dataFlag,
  force: { default: false, help: 'Replace FILE if it exists' },
  ...outputFlag,
})

/** The arguments of `backup`. */
export const backupArguments = defineArguments({
  file: {
    label: 'FILE',
    optional: true,
    complete: 'files',
    help: 'The file to write (default: kubewright-DATE-TIME.backup)',
  },
})

/** `kubewright backup`: writes the objects and keys of a control plane to a file. */
export const backupCommand: Command = defineCommand({
  name: 'backup',
  summary: 'Write the objects and keys of a control plane to a file',
  description: `
Write all objects of a folder, as kubewright up keeps them, and the keys of the server to one file. The control plane
may be running: the backup then has every write that was answered before the command started, at one resource version.
The file appears only when it is complete. It contains secrets and private keys, and only its owner can read it.

For objects in etcd (up --etcd), use the tool of etcd: etcdctl snapshot save FILE.`,
  args: backupArguments,
  flags: backupFlags,
  examples: ['backup', 'backup --data /var/lib/kubewright /backups/today.backup'],
  run: async (input, context) => (await import('./run-backup.ts')).runBackup(input, context),
})
