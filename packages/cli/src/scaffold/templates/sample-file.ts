import { placeholderSpec } from '../../manifests/sample-of.ts'
import { groupOf, type Project, type ProjectResource } from '../project.ts'

/** The path of the sample of a resource. */
export function samplePath({ group, domain, version, kind }: ProjectResource): string {
  return `config/samples/${group ?? domain}_${version}_${kind.toLowerCase()}.yaml`
}

/** How {@link sampleText} writes a sample. */
export interface SampleTextOptions {
  /** Whether the controller deploys an image. */
  readonly hasImage: boolean
  /** Whether the kind had another version first. Both samples exist in a cluster under one kind, so their names differ. */
  readonly isFurther: boolean
}

/** The file with a sample object. */
export function sampleText(
  project: Project,
  resource: ProjectResource,
  { hasImage, isFurther }: SampleTextOptions,
): string {
  const { kind, version } = resource
  return `apiVersion: ${groupOf(resource)}/${version}
kind: ${kind}
metadata:
  labels:
    app.kubernetes.io/name: ${project.projectName}
  name: ${kind.toLowerCase()}-sample${isFurther ? `-${version}` : ''}
spec:
  ${hasImage ? 'size: 1' : `foo: ${placeholderSpec['foo']}`}
`
}
