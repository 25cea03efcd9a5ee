import type { ExtensionResource } from '@kubewright/server'

/** The group that the extension server answers for. */
export const group = 'hello.example.com'

/** Greetings, in the words of a CustomResourceDefinition: schema, columns and subresources work the same way. */
export const greetings: ExtensionResource = {
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'greetings', kind: 'Greeting', shortNames: ['hi'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            required: ['spec'],
            properties: {
              spec: {
                type: 'object',
                required: ['to'],
                properties: {
                  to: { type: 'string', minLength: 1, description: 'Who is greeted.' },
                  text: { type: 'string', default: 'Hello' },
                },
              },
            },
          },
        },
        additionalPrinterColumns: [
          { name: 'Text', type: 'string', jsonPath: '.spec.text' },
          { name: 'To', type: 'string', jsonPath: '.spec.to' },
        ],
      },
    ],
  },
}
