import { type ChannelSource, channelSource } from '../../controller/channel-source.ts'
import { defineKeyController, type KeyContext, type KeyController } from '../../controller/key-controller.ts'

/** A controller that is pushed keys. */
export function pushed(
  reconcile: (key: string, context: KeyContext) => Promise<void> | void,
  name = 'pushed',
): { readonly channel: ChannelSource; readonly controller: KeyController } {
  const channel = channelSource()
  return { channel, controller: defineKeyController({ name, sources: [channel], reconcile }) }
}
