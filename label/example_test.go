package label_test

import (
	"fmt"
	"strings"

	"github.com/pho-go/pho/label"
)

func Example() {
	l, err := label.Read(strings.NewReader(`{"columns": {
		"hr": {"name": "Hour of day", "unit": "h"},
		"temp": {"name": "Temperature", "unit": "°C", "back_transform": {"scale": 41}},
		"weathersit": {"name": "Weather", "levels": {"1": "clear", "2": "mist"}}
	}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(l.Axis("temp"))
	fmt.Println(l.Value("temp", 0.5))
	fmt.Println(l.Level("weathersit", "2"))
	fmt.Println(l.Term(label.Term{Name: "s(hr):weathersit1", Features: []string{"hr", "weathersit"}, By: "weathersit", Level: "1"}))
	fmt.Println(l.Check(label.Known{Columns: []string{"hr", "temperature", "weathersit"}}))
	// Output:
	// Temperature (°C)
	// 20.5 °C
	// mist
	// s(Hour of day):Weather = clear
	// there is no column "temp"; there are "hr", "temperature", "weathersit"
}
