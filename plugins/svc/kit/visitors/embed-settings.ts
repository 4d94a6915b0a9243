/** Whose pages may show something of this site (D16). */
export interface EmbedSettings {
  readonly enabled: boolean;
  /** `example.com`, `https://shop.example.com:8443`, `*.example.com`. Empty without `any_site`: the host's own origin alone. */
  readonly allowed_domains: readonly string[];
  readonly any_site: boolean;
}
