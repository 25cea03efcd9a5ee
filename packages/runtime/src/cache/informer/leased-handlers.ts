import type { HandlerRegistration } from './shared-informer.ts'

/** The handlers that were registered through one lease: all are removed, once, when the lease is released. */
export class LeasedHandlers {
  readonly #registrations: HandlerRegistration[] = []
  #held = true

  add(registration: HandlerRegistration): HandlerRegistration {
    this.#registrations.push(registration)
    return registration
  }

  /** Removes the handlers. Returns false when the lease was released before. */
  release(): boolean {
    if (!this.#held) return false
    this.#held = false
    for (const registration of this.#registrations) registration.remove()
    return true
  }
}
