import { defineResource, type Infer, s } from 'kubewright'

/** A web shop with a database. */
export const Shop = defineResource({
  group: 'shop.example.com',
  version: 'v1',
  kind: 'Shop',
  description: 'A web shop with a database.',
  spec: s.object({
    image: s.string({ minLength: 1 }).describe('The container image of the web site.'),
    replicas: s.int({ minimum: 0, maximum: 9 }).default(2).describe('The number of web servers.'),
    search: s.bool().default(false).describe('Whether the shop has a search engine.'),
  }),
  status: s.object({
    url: s.string().describe('The address inside the cluster.').optional(),
    conditions: s.conditions('Ready', 'DatabaseReady', 'MigrationReady', 'WebReady', 'SearchReady'),
  }),
  columns: { Ready: '.status.conditions[?(@.type=="Ready")].status', URL: '.status.url' },
})
export type Shop = Infer<typeof Shop>
