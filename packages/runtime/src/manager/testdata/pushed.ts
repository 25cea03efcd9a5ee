import { defineKeyController, type KeyContext, type KeyController } from '../../controller/key-controller.ts'
import { type ChannelSource, channelSource } from '../../controller/sources/channel-source.ts'

/** A controller whose keys the test pushes. */
export function pushed(
  reconcile: (key: string, context: KeyContext) => Promise<void> | void,
  name = 'pushed',
): { readonly channel: ChannelSource; readonly controller: KeyController } {
  const channel = channelSource()
  return { channel, controller: defineKeyController({ name, sources: [channel], reconcile }) }
}
