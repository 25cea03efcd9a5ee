// The part of @ngrok/webernetes that its program uses: the package need not be installed.
declare module '@ngrok/webernetes' {
  interface Container {
    waitUntilKilled(): Promise<number>
  }
  interface Deployment {
    readonly status?: { readonly availableReplicas?: number }
  }
  export class BaseImage {
    exec(container: Container): Promise<number>
  }
  export class Cluster {
    constructor(options: { readonly nodes: number })
    registerImage(image: typeof BaseImage & { readonly imageName: string; readonly imageVersion: string }): void
    init(): Promise<void>
    apply(objects: readonly object[]): Promise<unknown>
    informer(resource: 'deployments', changed: (type: string, object: Deployment) => void): unknown
  }
}
