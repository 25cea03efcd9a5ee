import { defineFlags } from '@kubewright/base'

/** Flags of commands that place the operator in a cluster. */
export const imageFlags = defineFlags({
  image: {
    value: 'IMAGE',
    defaultText: 'as in config/, else controller:latest',
    help: 'Run this image of the operator',
  },
  namespace: {
    value: 'NAME',
    defaultText: 'as in config/, else OPERATOR-system',
    help: 'Run the operator in this namespace',
  },
})
