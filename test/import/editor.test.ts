// Editors show the declaration and the comment of the fields of a kind.
import { join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { languageService } from '../types/language-service.ts'

// Exists only in the language service; beside the test, so that it finds the packages.
const file = join(import.meta.dirname, 'home.editor.ts')
const source = `import { defineResource, type Infer, s } from 'kubewright'
const Home = defineResource({
  group: 'example.com',
  version: 'v1',
  kind: 'Home',
  spec: s.object({
    /** The image. */
    image: s.string(),
    /** The rooms. */
    rooms: s.array(s.object({
      /** The beds. */
      beds: s.int().default(1),
    })).optional(),
    size: s.object({
      /** The length. */
      metres: s.int().optional(),
      feet: s.int().optional(),
    }, { exactlyOneOf: ['metres', 'feet'] }).optional(),
  }),
  status: s.object({
    /** Whether it is up. */
    ready: s.bool().optional(),
  }),
})
export const read = (home: Infer<typeof Home>) =>
  [home.spec.image, home.spec.rooms?.[0]?.beds, home.spec.size?.metres, home.status?.ready]
export const draft = Home({ metadata: { name: 'a' }, spec: { image: 'a', rooms: [] } })
`

test('s.object() preserves the declaration and the comment of fields for editors', () => {
  const service = languageService(file, source)
  expect(service.getSemanticDiagnostics(file)).toEqual([])
  const shown = (use: string, name: string): readonly unknown[] => {
    const at = source.lastIndexOf(use) + use.length - 1
    const declared = service.getDefinitionAtPosition(file, at)?.map(({ textSpan }) => textSpan.start)
    const info = service.getQuickInfoAtPosition(file, at)
    return [ts.displayPartsToString(info?.documentation), declared?.includes(source.indexOf(`${name}: s.`))]
  }
  expect(shown('home.spec.image', 'image')).toEqual(['The image.', true])
  expect(shown('home.spec.rooms', 'rooms')).toEqual(['The rooms.', true])
  expect(shown('?.beds', 'beds')).toEqual(['The beds.', true])
  expect(shown('?.metres', 'metres')).toEqual(['The length.', true])
  expect(shown('?.ready', 'ready')).toEqual(['Whether it is up.', true])
  expect(shown('spec: { image', 'image')).toEqual(['The image.', true])
  expect(shown(', rooms', 'rooms')).toEqual(['The rooms.', true])
}, 120_000)

test('kinds of kubewright/k8s show a description of the kind and of every field', () => {
  const text = `import { Deployment, type PodSpec, type StatefulSetDraft } from 'kubewright/k8s'
export const draft = Deployment({
  metadata: { name: 'web' },
  spec: { selector: {}, strategy: { type: 'Recreate' }, template: { spec: { containers: [{ name: 'web', tty: true }] } } },
})
export const read = (deployment: Deployment) => deployment.status?.readyReplicas
export const pod = (spec: PodSpec) => spec.dnsPolicy
export const claims = (set: StatefulSetDraft) => set.spec.volumeClaimTemplates
`
  const service = languageService(file, text)
  expect(service.getSemanticDiagnostics(file)).toEqual([])
  const shown = (use: string): string => {
    const info = service.getQuickInfoAtPosition(file, text.indexOf(use) + use.length - 1)
    return ts.displayPartsToString(info?.documentation)
  }
  expect(shown('draft = Deployment')).toContain('Runs replicas of a pod and rolls out changes of its template.')
  expect(shown('strategy')).toBe('How new pods replace old ones.')
  expect(shown('{ type')).toBe('RollingUpdate replaces pods gradually; Recreate stops all old pods first.')
  expect(shown('containers')).toMatch(/^Main containers of the pod, at least one;.* Merged by name\.$/)
  expect(shown('tty')).toBe('Allocates a terminal for the program; requires stdin.')
  expect(shown('deployment.status')).toBe('Counts of replicas and progress of the rollout.')
  expect(shown('readyReplicas')).toBe('Number of pods that are ready.')
  expect(shown('spec.dnsPolicy')).toMatch(/^Source of the resolver settings/)
  expect(shown('set.spec.volumeClaimTemplates')).toMatch(/^Claims to create for every pod/)
}, 120_000)
