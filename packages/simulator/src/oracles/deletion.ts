import { objectId } from '../define/object-id.ts'
import { defineOracle, type RunOracle } from './define-oracle.ts'

export const deletion: RunOracle = defineOracle({
  name: 'deletion',
  property: 'deletions finish, at the latest when the objects of other kinds are deleted too',
  needs: 'run',
  check({ undeleted }, report) {
    for (const object of undeleted) {
      const { finalizers = [] } = object.metadata
      report(`The deletion of ${objectId(object)} does not finish`, [
        `its finalizers are ${finalizers.join(', ') || 'gone'}`,
      ])
    }
  },
})
