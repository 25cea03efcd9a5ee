import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import { successStatus } from '../../subresources/success-status.ts'
import { bindPod, checkBinding } from '../pod/subresources/bind-pod.ts'

/** Bindings as a resource of their own, which is deprecated: the name of a binding is that of the pod. */
export const bindings: BuiltinDefinition = defineBuiltin({
  group: '',
  resource: 'bindings',
  withServer: (server) => ({
    virtual: async (context, binding, admit) => {
      checkBinding(binding)
      await admit()
      const pods = server.resources.find('', 'v1', 'pods')
      if (pods) await bindPod(server, pods, binding, context.request.query.getAll('dryRun').length > 0)
      // The response is a Status instead of an object; the caller only encodes it.
      return successStatus as never
    },
  }),
})
