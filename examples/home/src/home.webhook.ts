import { defineWebhook, duplicate, invalid, sameObject, warning } from 'kubewright'
import { Home } from './home.ts'

export const homeWebhook = defineWebhook(Home, {
  default(home) {
    home.spec.domain ??= `${home.metadata.name}.homes.my.domain`
  },

  async validate(home, { client, signal }) {
    const { domain, image, replicas } = home.spec
    const claimants = await client.list(Home, { where: { 'spec.domain': domain }, signal })
    return [
      claimants.some((other) => !sameObject(other, home)) && duplicate('spec.domain', domain),
      image.endsWith(':latest') && invalid('spec.image', 'must use an immutable tag'),
      replicas === 1 && warning('spec.replicas', 'one replica means downtime on every rollout'),
    ]
  },

  // A thrown error rejects the request without naming a field.
  validateDelete(home) {
    if (home.metadata.annotations?.['ajd.my.domain/keep'] === 'true')
      throw new Error('the annotation ajd.my.domain/keep protects this Home from deletion')
    return []
  },
})
