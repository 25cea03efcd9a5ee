import { defineFlags } from '@kubewright/base'

/** The folder in which `kubewright up` keeps objects without a flag. */
export const defaultData = '.kubewright/data'

/** The flag that selects the folder of a control plane. */
export const dataFlag = defineFlags({
  data: {
    value: 'DIR',
    complete: 'folders',
    default: defaultData,
    help: 'The folder of the control plane, as given to up --data',
  },
})
