/** The version of Kubewright, which is that of all its packages. */
export const kubewrightVersion = '0.1.0'

/** What else a new project needs to be developed, in the versions that Kubewright itself is tested with. */
export const pinnedVersions: Readonly<Record<string, string>> = {
  '@types/node': '20.19.43',
  tsx: '4.23.15',
  typescript: '7.0.2',
  vitest: '4.1.12',
}

/** The release line of Node that images are built on. */
export const nodeRelease = '24'
