import { placeholderSpec } from '../../manifests/sample-of.ts'
import { groupOf, type Project, type ProjectResource } from '../project.ts'

/** The path of the sample of a resource. */
export function samplePath({ group, domain, version, kind }: ProjectResource): string {
  return `config/samples/${group ?? domain}_${version}_${kind.toLowerCase()}.yaml`
}

/** The file with a sample object. */
export function sampleText(project: Project, resource: ProjectResource, hasImage: boolean): string {
  const { kind, version } = resource
  return `apiVersion: ${groupOf(resource)}/${version}
kind: ${kind}
metadata:
  labels:
    app.kubernetes.io/name: ${project.projectName}
  name: ${kind.toLowerCase()}-sample
spec:
  ${hasImage ? 'size: 1' : `foo: ${placeholderSpec['foo']}`}
`
}
