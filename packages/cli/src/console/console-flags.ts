import { defineFlags } from '@kubewright/base'

/** The flags of every command that serves the console. */
export const consoleFlags = defineFlags({
  open: { default: false, help: 'Open the console in the web browser' },
})
