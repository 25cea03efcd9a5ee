import { groupOf, type Project, type ProjectResource } from '../project.ts'

/** Where the sample of a resource is. */
export function samplePath({ group, domain, version, kind }: ProjectResource): string {
  return `config/samples/${group ?? domain}_${version}_${kind.toLowerCase()}.yaml`
}

/** The spec of a kind that nobody has given fields of its own yet. */
export const placeholderSpec: Readonly<Record<string, string>> = Object.freeze({ foo: 'bar' })

/** An object of a kind to try it out with. */
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
