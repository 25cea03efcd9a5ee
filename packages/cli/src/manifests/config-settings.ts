import { imageParts } from './image-parts.ts'

/** The settings of config/ that flags can change. */
export interface ConfigSettings {
  readonly image?: string | undefined
  readonly namespace?: string | undefined
  readonly 'cert-manager'?: boolean | undefined
  readonly prometheus?: boolean | undefined
  readonly 'network-policy'?: boolean | undefined
}

/** The text of a kustomization that the user changed, with the settings of flags. Settings whose lines the user removed stay as they are. */
export function withSettings(path: string, text: string, settings: ConfigSettings): string {
  if (path === 'config/manager/kustomization.yaml') return withImage(text, settings.image)
  if (path !== 'config/default/kustomization.yaml') return text
  const { namespace } = settings
  const placed = namespace === undefined ? text : text.replace(/^namespace:.*$/m, `namespace: ${namespace}`)
  return [
    ['../certmanager', settings['cert-manager']] as const,
    ['../prometheus', settings.prometheus] as const,
    ['../network-policy', settings['network-policy']] as const,
  ].reduce((before, [component, isOn]) => withComponent(before, component, isOn), placed)
}

function withImage(text: string, image: string | undefined): string {
  if (image === undefined) return text
  const { repository, tag = 'latest', digest } = imageParts(image)
  const version = digest === undefined ? `newTag: ${JSON.stringify(tag)}` : `digest: ${digest}`
  // The entry of the image `controller`: the lines from its dash to the next entry or field.
  return text.replace(/^- (?:.*\n(?: {2}.*\n)*)/gm, (entry) => {
    if (!/^[- ] name: controller$/m.test(entry)) return entry
    const rest = entry
      .split('\n')
      .slice(0, -1)
      .map((line) => line.slice(2))
      .filter((line) => !/^(name|newName|newTag|digest):/.test(line))
    const lines = ['name: controller', `newName: ${repository}`, version, ...rest]
    return lines.map((line, index) => `${index === 0 ? '- ' : '  '}${line}\n`).join('')
  })
}

function withComponent(text: string, component: string, isOn: boolean | undefined): string {
  const escaped = component.replaceAll('.', '\\.')
  if (isOn === undefined) return text
  if (!isOn) return text.replace(new RegExp(`^( *)- ${escaped}$`, 'm'), `$1#- ${component}`)
  const added = text.replace(new RegExp(`^( *)# ?- ${escaped}$`, 'm'), `$1- ${component}`)
  return added === text ? text : added.replace(/^# ?components:$/m, 'components:')
}
