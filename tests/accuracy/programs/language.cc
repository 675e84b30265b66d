// SPDX-License-Identifier: Apache-2.0
/* What C++ adds to stacks: templates, virtual calls, lambdas, constructors, operators, namespaces.
 */
#include <functional>
#include <memory>
#include <string>

#include "main_loop.h"

namespace shapes
{

struct shape {
	virtual ~shape() = default;
	FRAME virtual int area(int n) = 0;
};

struct circle : shape {
	FRAME int area(int n) override
	{
		SPIN(2000000);
		return n + 1;
	}
};

struct square : shape {
	FRAME int area(int n) override
	{
		SPIN(2100000);
		return n + 2;
	}
};

struct built {
	int value;

	FRAME explicit built(int n) : value(n)
	{
		SPIN(2200000);
		NOT_TAIL();
	}

	FRAME bool operator<(const built &other) const
	{
		SPIN(2300000);
		return value < other.value;
	}
};

} // namespace shapes

static volatile int sink;

template <typename T, int N> FRAME T pipeline(T x)
{
	SPIN(2400000 + N * 1000);
	return x + N;
}

FRAME int calls_virtual(shapes::shape &s)
{
	int r = s.area(3);

	NOT_TAIL();
	return r + sink;
}

FRAME int calls_template(int x)
{
	return pipeline<int, 3>(x) + (int)pipeline<long, 7>(x) + sink;
}

FRAME int apply(const std::function<int(int)> &fn)
{
	int r = fn(2);

	NOT_TAIL();
	return r + sink;
}

FRAME int lambda_leaf(int x)
{
	SPIN(2500000);
	return x + sink;
}

/* The lambda is a call of its own; what std::function puts between is the library's business. */
FRAME int calls_lambda()
{
	int captured = sink;
	auto lambda = [captured](int x) __attribute__((noinline))
	{
		int r = lambda_leaf(x + captured);

		NOT_TAIL();
		return r + captured;
	};
	int r = apply(lambda);

	NOT_TAIL();
	return r;
}

FRAME int calls_members()
{
	shapes::built a(sink), b(3);
	int r = a < b;

	NOT_TAIL();
	return r;
}

static shapes::circle circle;
static shapes::square square;

FRAME void run(double seconds)
{
	double end = truth_clock() + seconds;

	while (truth_clock() < end) {
		TIMED("main;run;calls_virtual;shapes::circle::area", sink = calls_virtual(circle));
		TIMED("main;run;calls_virtual;shapes::square::area", sink = calls_virtual(square));
		TIMED("main;run;calls_template;(`pipeline<int, 3>`|`pipeline<long, 7>`)",
		      sink = calls_template(1));
		TIMED("main;run;calls_lambda;apply;{std}`calls_lambda()::{lambda(int)#1}::operator("
		      ")`;lambda_leaf",
		      sink = calls_lambda());
		TIMED("main;run;calls_members;(shapes::built::built|`shapes::built::operator<`)",
		      sink = calls_members());
	}
}
