import { defineFlags } from '@kubewright/base'

/** The flags that select a cluster, named as those of kubectl. */
export const connectionFlags = defineFlags({
  kubeconfig: {
    value: 'FILE',
    complete: 'files',
    defaultText: '$KUBECONFIG, then ~/.kube/config',
    help: 'Use the cluster of this kubeconfig',
  },
  context: {
    value: 'NAME',
    complete: { list: 'contexts' },
    defaultText: 'the current one',
    help: 'Use this context of the kubeconfig',
  },
})
