import { dataKinds, objectId } from '../define/object-id.ts'
import { defineOracle, type RunOracle } from './define-oracle.ts'

export const orphans: RunOracle = defineOracle({
  name: 'orphans',
  property: 'no child remains when its owner is gone',
  needs: 'run',
  check({ world, objects }, report) {
    const live = new Set([...world.setup.cluster.inputs, ...objects.map(({ metadata }) => metadata.uid)])
    for (const object of objects) {
      const id = objectId(object)
      if (!world.log.written.has(id) || dataKinds.has(object.kind)) continue
      const owners = object.metadata.ownerReferences ?? []
      if (owners.length > 0 && owners.every(({ uid }) => !live.has(uid))) {
        report(
          `${id} remains, but its owner is gone`,
          owners.map(({ kind, name }) => `${kind} ${name}`),
        )
      }
    }
  },
})
