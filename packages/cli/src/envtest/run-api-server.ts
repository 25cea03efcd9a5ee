import { serve } from '@kubewright/controlplane'
import type { CommandInput } from '../command/command.ts'
import type { CommandContext } from '../command/command-context.ts'
import { aborted } from '../terminal/aborted.ts'
import { lineLogger } from '../text/line-logger.ts'
import { upConfig } from '../up/plane-config.ts'
import type { upFlags } from '../up/up-command.ts'

/** Serves a control plane in memory until the signal aborts. In contrast to `up`, it writes no kubeconfig: its starter has the certificates. */
export async function runApiServer({ flags }: CommandInput<typeof upFlags>, context: CommandContext): Promise<number> {
  const { clock, signal, out, note } = context
  const { config, warnings } = await upConfig(flags, context)
  for (const warning of warnings) note(`Warning: ${warning}`)
  const served = await serve({ ...config, clock, log: lineLogger(note, false) })
  try {
    const { names } = served.plane.controllers
    note(names.length === 0 ? 'Runs no controllers: see KUBEWRIGHT_CONTROLLERS' : `Runs ${names.join(', ')}`)
    out(`ready ${served.url} in ${Math.round(clock.monotonic() - context.startedAt)} ms`)
    context.onReady?.()
    await aborted(signal)
    await served.drain()
  } finally {
    await served[Symbol.asyncDispose]()
  }
  return 0
}
