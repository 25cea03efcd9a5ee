import { defineResource, s } from 'kubewright'

/** A text for all clusters of the fleet. */
export const Notice = defineResource({
  group: 'fleet.example.com',
  version: 'v1',
  kind: 'Notice',
  spec: s.object({ text: s.string({ minLength: 1 }) }),
  status: s.object({
    /** The clusters that have the text. */
    clusters: s.array(s.string()),
    conditions: s.conditions('Published'),
  }),
})
