/** The Status that actions such as an eviction answer with. */
export const successStatus: Readonly<Record<string, unknown>> = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  code: 201,
}
