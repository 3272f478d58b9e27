/** The codes of the warnings of this process since, without those that are not of Holdfast. */
export function hearWarnings(): { readonly codes: string[]; close(): void } {
  const codes: string[] = [];
  const hear = (warning: Error & { readonly code?: string }): void => {
    if (warning.name === 'HoldfastWarning') codes.push(warning.code ?? '');
  };
  process.on('warning', hear);
  return { codes, close: () => void process.off('warning', hear) };
}
