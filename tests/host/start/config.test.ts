import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { readConfig } from '../../../host/start/config.ts';
import { ConfigError } from '../../../host/start/environment.ts';

/** Where the templates and the plugins of the product are. */
const product = fileURLToPath(new URL('../../../', import.meta.url));

const configErrors = (env: Record<string, string>): string[] => {
  try {
    readConfig(env, '/srv/site');
  } catch (error) {
    expect(error).to.be.instanceOf(ConfigError);
    return (error as Error).message.split('\n');
  }
  return [];
};

describe('configuration', () => {
  it('has a default for every variable', () => {
    expect(readConfig({}, '/srv/site')).to.deep.equal({
      port: 3000,
      host: '127.0.0.1',
      siteUrl: null,
      dataDir: '/srv/site/data',
      uploadsBucket: null,
      databaseUrl: null,
      databaseDirectUrl: null,
      databaseWaitMs: 60_000,
      pluginDirs: ['/srv/site/plugins', `${product}plugins`],
      leftOutPlugins: [],
      viewsDir: `${product}views`,
      secretKey: null,
      previousSecretKey: null,
      role: 'all',
      trustProxy: false,
      restPrefix: 'wp-json',
      logLevel: 'info',
      admin: null,
      bodyBudget: 134_217_728,
      maxConnections: 5_000,
      metricsToken: null,
      disallowFileMods: false,
      blockedExitMs: 30_000,
      requiresPlugins: false,
      usesProxy: false,
      telemetry: null,
      locale: '',
    });
  });

  it('counts an empty variable as unset', () => {
    expect(readConfig({ PORT: '', DATABASE_URL: ' ', ROLE: '' }, '/srv/site')).to.deep.equal(
      readConfig({}, '/srv/site'),
    );
  });

  it('adds the authority of the database to its addresses, and refuses one that is missing or without a database', () => {
    const here = fileURLToPath(import.meta.url);
    const env = {
      DATABASE_URL: 'postgres://u:p@pool:6432/site',
      DATABASE_DIRECT_URL: 'postgres://u:p@db/site?sslmode=verify-ca',
      DATABASE_CA: here,
    };
    const { databaseUrl, databaseDirectUrl } = readConfig(env, '/srv/site');
    expect(new URL(databaseUrl!).searchParams.toString()).to.equal(
      new URLSearchParams({ sslrootcert: here, sslmode: 'verify-full' }).toString(),
    );
    expect(new URL(databaseDirectUrl!).searchParams.get('sslmode')).to.equal('verify-ca');
    expect(configErrors({ ...env, DATABASE_CA: 'gone.pem', DATABASE_DIRECT_URL: 'mysql://db' })).to.deep.equal([
      'DATABASE_DIRECT_URL must begin with postgres://.',
      "DATABASE_CA is 'gone.pem', which does not exist.",
    ]);
    expect(configErrors({ DATABASE_CA: here })).to.deep.equal([
      'DATABASE_DIRECT_URL and DATABASE_CA need DATABASE_URL.',
    ]);
  });

  it('takes the proxies of the environment, in upper and lower case, if their addresses are those of HTTP proxies', () => {
    for (const name of ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'ALL_PROXY'])
      expect(readConfig({ [name]: 'http://user:secret@proxy.example:3128' }, '/srv/site').usesProxy, name).to.equal(
        true,
      );
    expect(readConfig({ NO_PROXY: 'inside.example' }, '/srv/site').usesProxy).to.equal(false);
    expect(configErrors({ HTTPS_PROXY: 'user:secret@proxy:3128', all_proxy: 'socks5://proxy:1080' })).to.deep.equal([
      'HTTPS_PROXY is no address of an HTTP proxy; use one such as http://proxy.example.com:3128.',
      'ALL_PROXY is no address of an HTTP proxy; use one such as http://proxy.example.com:3128.',
    ]);
  });

  it('reads what is traced by the standard variables of OpenTelemetry', () => {
    const read = (env: Readonly<Record<string, string>>) =>
      readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', ...env }).telemetry;
    expect(read({})).to.deep.equal({ isParentBased: true, ratio: 1 });
    expect(read({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' })).to.deep.equal({
      isParentBased: false,
      ratio: 0.25,
    });
    expect(read({ OTEL_TRACES_SAMPLER: 'parentbased_always_off' })).to.deep.equal({ isParentBased: true, ratio: 0 });
    expect(read({ OTEL_SDK_DISABLED: 'true' })).to.equal(null);
    expect(
      configErrors({
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'collector:4318',
        OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
        OTEL_TRACES_SAMPLER: 'some',
        OTEL_TRACES_SAMPLER_ARG: '5',
      }).map((line) => line.split(';', 1)[0]),
    ).to.deep.equal([
      "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is 'collector:4318'",
      "OTEL_EXPORTER_OTLP_PROTOCOL is 'grpc'",
      "OTEL_TRACES_SAMPLER is 'some'",
      "OTEL_TRACES_SAMPLER_ARG is '5'",
    ]);
  });

  it('reads which plugins are left out: all or some', () => {
    expect([
      readConfig({ PLUGINS: 'off' }).leftOutPlugins,
      readConfig({ PLUGINS: 'shop, hello' }).leftOutPlugins,
    ]).to.deep.equal(['all', ['shop', 'hello']]);
    expect(configErrors({ PLUGINS: 'Shop!' })).to.deep.equal([
      "PLUGINS is 'Shop!'; use off, or the slugs of the plugins to leave out, separated by commas.",
    ]);
  });

  it('reads where a bucket of uploads is, whole or not at all', () => {
    const named = {
      UPLOADS_S3_BUCKET: 'my-site',
      UPLOADS_S3_ENDPOINT: 'https://s3.example.com',
      UPLOADS_S3_REGION: 'eu',
    };
    expect(readConfig(named).uploadsBucket).to.deep.equal({
      bucket: 'my-site',
      endpoint: 'https://s3.example.com',
      region: 'eu',
    });
    expect(readConfig({ UPLOADS_S3_BUCKET: 'my-site', AWS_REGION: 'eu-west-1' }).uploadsBucket).to.deep.equal({
      bucket: 'my-site',
      endpoint: null,
      region: 'eu-west-1',
    });
    expect(configErrors({ UPLOADS_S3_REGION: 'eu' })).to.deep.equal([
      'UPLOADS_S3_ENDPOINT and UPLOADS_S3_REGION need UPLOADS_S3_BUCKET.',
    ]);
    expect(configErrors({ UPLOADS_S3_BUCKET: 'My Site', UPLOADS_S3_ENDPOINT: 's3' })).to.deep.equal([
      "UPLOADS_S3_BUCKET is 'My Site'; use the name of a bucket, such as my-site-uploads.",
      "UPLOADS_S3_ENDPOINT is 's3'; use an http or https address such as https://s3.example.com.",
    ]);
  });

  it('reads each variable', () => {
    const config = readConfig(
      {
        PORT: '8080',
        HOST: '0.0.0.0',
        SITE_URL: 'https://example.com/',
        DATA_DIR: '/var/lib/svc',
        DATABASE_URL: 'postgres://db/site',
        PLUGIN_DIRS: 'plugins, /opt/plugins',
        SECRET_KEY: '0123456789abcdef',
        SECRET_KEY_PREVIOUS: 'the key before',
        ROLE: 'worker',
        TRUST_PROXY: '1',
        REST_PREFIX: '/api/',
        LOG_LEVEL: 'debug',
        BODY_BUDGET_MB: '256',
        MAX_CONNECTIONS: '100',
        ADMIN_USER: 'ada',
        ADMIN_PASSWORD: 'correct horse',
        ADMIN_EMAIL: 'ada@example.com',
      },
      '/srv/site',
    );
    expect(config).to.deep.include({
      port: 8080,
      host: '0.0.0.0',
      siteUrl: 'https://example.com',
      dataDir: '/var/lib/svc',
      databaseUrl: 'postgres://db/site',
      pluginDirs: ['/srv/site/plugins', '/opt/plugins'],
      secretKey: '0123456789abcdef',
      previousSecretKey: 'the key before',
      role: 'worker',
      trustProxy: 1,
      restPrefix: 'api',
      logLevel: 'debug',
      bodyBudget: 268_435_456,
      maxConnections: 100,
      admin: { login: 'ada', password: 'correct horse', email: 'ada@example.com' },
    });
  });

  it('lists every error at once, each with its remedy', () => {
    const errors = configErrors({
      PORT: '99999',
      SITE_URL: 'https://example.com/blog',
      DATABASE_URL: 'mysql://db',
      ROLE: 'boss',
      SECRET_KEY: 'short',
      REST_PREFIX: '../x',
      LOG_LEVEL: 'loud',
      BODY_BUDGET_MB: '1',
      MAX_CONNECTIONS: 'many',
      ADMIN_USER: 'ada',
    });
    expect(errors).to.have.lengthOf(10);
    for (const name of [
      'PORT',
      'SITE_URL',
      'DATABASE_URL',
      'ROLE',
      'SECRET_KEY',
      'REST_PREFIX',
      'LOG_LEVEL',
      'BODY_BUDGET_MB',
      'MAX_CONNECTIONS',
      'ADMIN_USER',
    ]) {
      expect(
        errors.some((error) => error.startsWith(name)),
        name,
      ).to.equal(true);
    }
  });

  it('never repeats a secret in an error', () => {
    expect(configErrors({ SECRET_KEY: 'hush-hush', DATABASE_URL: 'mysql://u:hush-hush@db' }).join(' ')).not.to.include(
      'hush-hush',
    );
  });
});
