/** The YAML of a namespaced CRD with the version v1. `properties` are those of its spec, as YAML on one line. */
export function definitionOf(kind: string, group: string, properties: string, description = ''): string {
  const plural = `${kind.toLowerCase()}s`
  return `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: ${plural}.${group} }
spec:
  group: ${group}
  scope: Namespaced
  names: { kind: ${kind}, plural: ${plural} }
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        description: ${JSON.stringify(description)}
        properties:
          spec: { type: object, properties: ${properties} }
`
}
