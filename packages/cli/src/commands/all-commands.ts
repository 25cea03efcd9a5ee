import type { Command } from '../command.ts'

/** Every command by name, in the order of the help; each is loaded only when it is called. */
export const commands: ReadonlyMap<string, { readonly summary: string; load(): Promise<Command> }> = new Map([
  [
    'up',
    {
      summary: 'Start a Kubernetes control plane on this machine, in the foreground',
      load: async () => (await import('./up.ts')).upCommand,
    },
  ],
])
