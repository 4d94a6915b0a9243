export default {
  register(host) {
    const { RestError } = host.api;

    host.hooks.addFilter('hello_greeting', (greeting, name) => `${greeting}, ${name}!`);
    host.hooks.addAction('hello_greeted', (name) => host.log.info('Greeting sent', { event: 'hello_greeted', name }));

    host.rest.registerRoute('hello/v1', '/greet/{name}', {
      summary: 'Returns a greeting for a name.',
      args: { name: { type: 'string', minLength: 1, maxLength: 40 } },
      permission: () => true,
      handler({ params: { name } }) {
        if (name === 'nobody')
          throw new RestError({ code: 'hello_nobody', message: 'Enter the name of a person to greet.', status: 400 });
        host.hooks.doAction('hello_greeted', name);
        return { hello: host.hooks.applyFilters('hello_greeting', 'Hello', name) };
      },
    });
  },
};
