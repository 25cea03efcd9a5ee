import type { ExtensionResource } from '@kubewright/server'

/** The API group of the extension server. */
export const group = 'hello.example.com'

/**
 * The greetings resource, in the form of a CustomResourceDefinition: schema, columns and subresources work the same
 * way.
 */
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
                  to: { type: 'string', minLength: 1, description: 'The person to greet.' },
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
