let loaded: Promise<typeof import('./start-controllers.ts')> | undefined

/**
 * Loads the code of the controllers on demand, so that an API server alone starts faster. After the first call, the
 * result takes no turn of the event loop: virtual time relies on that.
 */
export function loadControllers(): Promise<typeof import('./start-controllers.ts')> {
  return (loaded ??= import('./start-controllers.ts'))
}
